"""The command line over Hydra: schemas, overrides, launching, resuming and sweeps. Nothing else imports Hydra."""
