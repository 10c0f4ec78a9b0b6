"""What traced runs say of the scripts in ``fixtures/train``, and of reproductions of public reports."""
