"""Learning methods, a folder each: options, step, agent, compiled parts."""
