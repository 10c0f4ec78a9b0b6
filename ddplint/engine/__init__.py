"""From one file or many to outcomes: gate, limits, parse, rules, suppressions, workers, fixes."""
