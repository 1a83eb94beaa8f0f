"""What a learner reads when something is wrong."""
