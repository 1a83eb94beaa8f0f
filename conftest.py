"""Names the plugin; everything else lives in harness/."""

pytest_plugins = ["harness.plugin"]
