export { columnsIn, createOutput } from '../../cli/output.ts'
export { runCommand } from '../../cli/run.ts'
