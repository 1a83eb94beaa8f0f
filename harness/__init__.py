"""Everything that serves a lesson: locking, progress, loading, launching, checking, reporting."""
