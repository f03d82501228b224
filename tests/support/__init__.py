"""What tests of several rooms share: second implementations, hands and models made for tests, and faster set-ups."""
