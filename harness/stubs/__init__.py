"""What a learner starts from: the solutions without the lines that answer their tasks."""
