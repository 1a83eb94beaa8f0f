"""What arithmetic instructions compute: one table row each."""
