// Exports modules of the built program. Node loads this file itself, so the test runner does not transform the modules.
export { columnsIn, createOutput } from '../../dist/cli/output.js'
export { runCommand } from '../../dist/cli/run.js'
