"""How long ddplint takes, beside the parse that it can't do without and beside a peer."""
