export interface ReportedFile {
  readonly name: string
  readonly assertionResults: readonly { readonly status: string; readonly fullName?: string }[]
}
export const reasonToRunAgain: (file: string) => 'services' | 'program' | 'process' | undefined
export const filesToRunAgain: (failed: readonly ReportedFile[]) => readonly string[]
export const afterSecondRun: (
  first: readonly ReportedFile[],
  second: readonly ReportedFile[],
) => readonly ReportedFile[]
export const countRunTwice: (failed: readonly ReportedFile[], again: readonly string[]) => number
export const lastLine: (counts: {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly twice: number
}) => string
export const nameOf: (file: string) => string
