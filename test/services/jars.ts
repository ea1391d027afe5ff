import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Available } from './available.ts'
import { probedOnce } from './shared.ts'

/** A Java program by its Maven coordinates (`group:artifact:version`). Its jars are fetched once, and stay in .cache/ of the repository. */
export interface JavaProgram {
  readonly name: string
  readonly version: string
  readonly artifacts: readonly string[]
}

export const jarsAvailable = (program: JavaProgram): Available => {
  if (!answers('java', '-version')) return { ok: false, how: `${program.name} needs Java 17 or later on the PATH` }
  if (existsSync(folderOf(program)) || answers('mvn', '-v')) return { ok: true }
  return { ok: false, how: `${program.name} needs Maven on the PATH to fetch its jars (once)` }
}

/** The folder of its jars. Fetched aside and renamed, so that two processes at once end with one whole folder. */
export const fetchJars = (program: JavaProgram): string => {
  const folder = folderOf(program)
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true })
  const aside = mkdtempSync(`${folder}-`)
  try {
    copyDependencies(program, aside)
    renameSync(join(aside, 'jars'), folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
  return folder
}

const copyDependencies = ({ name, version, artifacts }: JavaProgram, aside: string): void => {
  const pom = join(aside, 'pom.xml')
  writeFileSync(pom, pomOf(artifacts))
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
  const run = spawnSync('mvn', ['-q', '-B', '-ntp', '-f', pom, goal, '-DincludeScope=runtime', `-DoutputDirectory=${join(aside, 'jars')}`], { encoding: 'utf8' })
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

const folderOf = ({ name, version }: JavaProgram): string => join(root(), '.cache', `${name.toLowerCase().replaceAll(' ', '-')}-${version}`)

/** The repository, also from the build in dist/. */
const root = (): string => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

const answers = (command: string, argument: string): boolean => probedOnce(command, () => spawnSync(command, [argument], { stdio: 'ignore' }).status === 0) ?? false
