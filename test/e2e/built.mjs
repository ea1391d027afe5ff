// Loaded by Node itself, not by the test runner: the modules of the built program, as its own process has them.
export { columnsIn, createOutput } from '../../dist/cli/output.js'
export { runCommand } from '../../dist/cli/run.js'
