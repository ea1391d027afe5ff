import { defineConfig } from 'vitest/config'

/** Unit tests are in the folders of test/ that are named like a folder of the product, or are contracts or domains. They need no service and no build. */
const UNIT =
  'test/{cli,contracts,domains,host,processors,producers,projections,schemas,testing,timestream-local}/**/*.test.ts'

const common = { setupFiles: ['test/properties.ts'], testTimeout: 30_000, hookTimeout: 120_000 }
/** `npm test` sets it on a machine without services. Tests on services need the cores for the services, and a process for each file. */
const hasServices = process.env['TRIBUTARY_TEST_WITHOUT_SERVICES'] === undefined
/** Tests wait for timers and processes for part of their time: three workers keep two cores busy. */
const system = hasServices ? { maxWorkers: 2, isolate: true } : { maxWorkers: 3, isolate: false }

export default defineConfig({
  test: {
    // Here and not in the projects, so that it runs once.
    globalSetup: ['test/services/global.ts'],
    projects: [
      // Vitest reuses a process only for the next file of the same project, so the projects run one after the other.
      {
        test: { ...common, name: 'unit', include: [UNIT], maxWorkers: 3, isolate: false, sequence: { groupOrder: 0 } },
      },
      {
        test: {
          ...common,
          name: 'system',
          include: ['test/**/*.test.ts'],
          exclude: [UNIT],
          ...system,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
