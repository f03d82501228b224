"""Learning methods, a folder each: options, step, agent, compiled parts.

Of another learner one imports options; of `replay`, which is also the library of those with Q-networks, `update`
(minibatches), `batch`, `rewards` and `monitoring`; of `policies` everything, since `nfsp` and `mirror` share it.
"""
