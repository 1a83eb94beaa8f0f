"""Which lessons there are, whose answers are tested, and what a learner has done so far."""
