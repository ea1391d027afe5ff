import type { Log } from './log.ts'

/** Identifies one incarnation of a topic: a topic that was deleted and created again has another identity. */
export interface TopicIdentity {
  readonly cluster: string
  readonly topic: string
  readonly partitions: number
}

/** The port for the administration of one topic. Only start-up, commands and health checks use this port: no event passes through it. */
export interface LogAdmin {
  identity(): Promise<TopicIdentity>
  /** The settings that let the topic remove events, as `name=value`. Empty: there are none. Absent if the log never removes events. */
  retention?(): Promise<readonly string[]>
  /** Resolves to true if the consumer group has members now. */
  isFollowed(group: string): Promise<boolean>
  /** Removes a consumer group and its stored data. No effect if there is no such group. Fault `group-active` (retriable) if it has members. */
  removeGroup(group: string): Promise<void>
}

/** An open topic: its log and its administration. */
export type OpenTopic = Log & LogAdmin

export interface Logs {
  /** Opens a topic. If the topic does not exist, creates it with the settings of the adapter. `expected` is the identity that the topic must have. */
  open(topic: string, expected?: TopicIdentity): Promise<OpenTopic>
  /** Writes a consistent copy of all topics into an empty folder while appends continue. Absent if the log's disk belongs to another system. */
  copy?(folder: string): Promise<void>
  close(): Promise<void>
}
