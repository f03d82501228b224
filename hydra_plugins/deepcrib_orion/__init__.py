"""Hydra's `hydra/sweeper=orion`: searches for options by Orion.

Hydra imports every module of its plugins at each start, except those whose name begins with an underscore. So
`sweeper` is light, and Orion, which takes a second to import and is an extra, is imported by the others once a search
runs.
"""
