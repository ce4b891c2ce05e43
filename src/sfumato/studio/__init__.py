"""The whole job in a browser, on one's own machine: one page a file, and no logic of its own.

Every step is a call of the same verbs as on the command line, and every page shows the policy and the command that would do
the same. `guard` keeps others out, `session` is what the pages share, `jobs` runs long work in another process.
"""
