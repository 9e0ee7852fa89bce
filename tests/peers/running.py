"""Runs the tests of one file: what every test program ends with."""
import os
import unittest


class _Result(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def failed(self):
        return len(self.failures) + len(self.errors) + len(self.unexpectedSuccesses)


def main():
    """unittest.main(); the counts also go to the file that MAILFLOW_COUNTS names."""
    run = unittest.main(testRunner=unittest.TextTestRunner(
        resultclass=_Result, verbosity=2), warnings='ignore', exit=False)
    result = run.result
    if 'MAILFLOW_COUNTS' in os.environ:
        with open(os.environ['MAILFLOW_COUNTS'], 'w') as f:
            f.write('%d %d %d\n' % (result.passed, result.failed(), len(result.skipped)))
    raise SystemExit(0 if result.wasSuccessful() and result.testsRun else 1)
