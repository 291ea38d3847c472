"""SteadyEval: an exam grader that an answer cannot talk into a better grade."""
