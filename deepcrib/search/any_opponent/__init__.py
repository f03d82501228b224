"""The broad tree of the play, level by level: replies to an opponent that is asked in batches."""
