import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withoutServices, type Available } from './available.ts'
import { probedOnce } from './shared.ts'

/** A Java program and its Maven coordinates (`group:artifact:version`). The jars are fetched once and stay in .cache/ of the repository. */
export interface JavaProgram {
  readonly name: string
  readonly version: string
  readonly artifacts: readonly string[]
}

export const jarsAvailable = (program: JavaProgram): Available => {
  const none = withoutServices()
  if (none !== undefined) return none
  if (!answers('java', '-version')) return { ok: false, how: `${program.name} needs Java 17 or later on the PATH` }
  if (existsSync(folderOf(program)) || answers('mvn', '-v')) return { ok: true }
  return { ok: false, how: `${program.name} needs Maven on the PATH to fetch its jars (once)` }
}

/** Returns the folder of the program's jars. Fetches missing jars into a temporary folder and renames it, so two processes can do this at once. */
export const fetchJars = (program: JavaProgram): string => {
  const folder = folderOf(program)
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true })
  const draft = mkdtempSync(`${folder}-`)
  try {
    copyDependencies(program, draft)
    renameSync(join(draft, 'jars'), folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return folder
}

const copyDependencies = ({ name, version, artifacts }: JavaProgram, folder: string): void => {
  const pom = join(folder, 'pom.xml')
  writeFileSync(pom, pomOf(artifacts))
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
  const run = spawnSync(
    'mvn',
    ['-q', '-B', '-ntp', '-f', pom, goal, '-DincludeScope=runtime', `-DoutputDirectory=${join(folder, 'jars')}`],
    { encoding: 'utf8' },
  )
  if (run.status !== 0) throw new Error(`Maven could not fetch ${name} ${version}: ${run.stdout}${run.stderr}`)
}

const pomOf = (artifacts: readonly string[]): string => {
  const dependencies = artifacts.map((artifact) => {
    const [group, name, version] = artifact.split(':')
    return `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`
  })
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>tributary</groupId><artifactId>services</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>${dependencies.join('')}</dependencies>
</project>`
}

const folderOf = ({ name, version }: JavaProgram): string =>
  join(root(), '.cache', `${name.toLowerCase().replaceAll(' ', '-')}-${version}`)

/** The folder of the repository. */
const root = (): string => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

const answers = (command: string, argument: string): boolean =>
  probedOnce(command, () => spawnSync(command, [argument], { stdio: 'ignore' }).status === 0) ?? false
