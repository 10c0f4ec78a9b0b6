"""What runs in the user's processes: it records, and never decides.

Standard library of Python 3.8 and, once the script imports it, torch. Whatever goes wrong here is written down and
never reaches the script. Nothing here speaks to other ranks but through files in the run's folder.
"""
