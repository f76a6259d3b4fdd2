"""The pytest plugin: features collected, steps bound, Cucumber Messages written."""
