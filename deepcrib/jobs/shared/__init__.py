"""What several jobs share: checks of options, agents by their specs, progress and the console."""
