"""What a launch cost and which rule it broke: listeners to what the machine tells."""
