import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Available } from './available.ts'
import { freePort, untilOpen } from './kafka-node.ts'
import { probedOnce } from './shared.ts'

/** The folder into which CI unpacks the Debian package of Prometheus without installing it. */
const UNPACKED = join(import.meta.dirname, '..', '..', '.cache', 'prometheus', 'usr', 'bin')

const found = (program: 'prometheus' | 'promtool'): string | undefined =>
  probedOnce(program, () =>
    [program, join(UNPACKED, program)].find(
      (path) => spawnSync(path, ['--version'], { stdio: 'ignore' }).error === undefined,
    ),
  )

export const prometheusAvailable = (): Available =>
  found('prometheus') === undefined || found('promtool') === undefined
    ? { ok: false, how: 'install Prometheus with promtool (Debian: apt-get install prometheus)' }
    : { ok: true }

/** Runs promtool in a new folder with the given files. Returns its exit code and its output. */
export const promtool = (
  args: readonly string[],
  { files = {}, input = '' }: { readonly files?: Readonly<Record<string, string>>; readonly input?: string } = {},
): { readonly code: number | null; readonly printed: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-promtool-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const { status, stdout, stderr } = spawnSync(found('promtool') ?? 'promtool', args, {
    cwd: folder,
    input,
    encoding: 'utf8',
  })
  rmSync(folder, { recursive: true, force: true })
  return { code: status, printed: `${stdout}${stderr}` }
}

export interface Prometheus {
  /** The labels of the alerts that fire now. */
  firing(): Promise<readonly Readonly<Record<string, string>>[]>
  /** The labels of the series that a query returns now. */
  query(text: string): Promise<readonly Readonly<Record<string, string>>[]>
  stop(): Promise<void>
}

/** A Prometheus that scrapes one target and evaluates the rules once per second. */
export const startPrometheus = async ({
  target,
  rules,
}: {
  readonly target: string
  readonly rules: string
}): Promise<Prometheus> => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-prometheus-'))
  const port = await freePort()
  writeFileSync(join(folder, 'rules.yml'), rules)
  // Prometheus reads YAML, and JSON is valid YAML.
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yml'],
      scrape_configs: [{ job_name: 'tributary', static_configs: [{ targets: [target] }] }],
    }),
  )
  const child = spawn(
    found('prometheus') ?? 'prometheus',
    ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${port}`],
    { cwd: folder, stdio: 'ignore' },
  )
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const killNow = () => void child.kill('SIGKILL')
  process.once('exit', killNow)
  await untilOpen(port, () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}`)
  })
  const get = async (path: string): Promise<unknown> =>
    ((await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()) as { readonly data?: unknown }).data
  return {
    firing: async () => {
      const { alerts } = (await get('alerts')) as {
        readonly alerts: readonly { readonly state: string; readonly labels: Readonly<Record<string, string>> }[]
      }
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels)
    },
    query: async (text) =>
      (
        (await get(`query?query=${encodeURIComponent(text)}`)) as {
          readonly result: readonly { readonly metric: Readonly<Record<string, string>> }[]
        }
      ).result.map(({ metric }) => metric),
    async stop() {
      process.off('exit', killNow)
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
