"""Running a lesson again at every save: what was saved, and an interpreter that is ready for it."""
