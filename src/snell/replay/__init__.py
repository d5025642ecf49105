"""`snell replay`: decide recorded events again with today's hooks, without side effects, and compare the verdicts."""
