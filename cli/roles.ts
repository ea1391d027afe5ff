/** The parts of the program. Each process runs the roles that `start --roles` names. Default: all. */
export const ROLES = ['edge', 'processor', 'sender', 'timers', 'live', 'fetcher'] as const
export type Role = (typeof ROLES)[number]
