"""The rules that come with ddplint: one file a rule, one folder a family."""
