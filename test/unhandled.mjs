// A vitest reporter. Writes the number of errors outside of any test to a file, because the JSON report does not contain them.
import { writeFileSync } from 'node:fs'

export default class {
  onTestRunEnd(_modules, unhandled) {
    writeFileSync(process.env['TRIBUTARY_TEST_UNHANDLED'], String(unhandled.length))
  }
}
