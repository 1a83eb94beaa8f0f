"""Pictures of the lessons as SVG: what lanes touch, what waits for what, what fills up."""
