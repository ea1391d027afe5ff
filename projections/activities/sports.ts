import type { Sport } from './items.ts'

/** Assigns the sport types of Strava to the sports of milestones. A type that no sport lists counts nowhere. */
export interface SportMap {
  /** A part of the fold version: a changed map needs a rebuild. */
  readonly version: number
  readonly sports: Readonly<Record<Sport, readonly string[]>>
}

export const SPORT_MAP: SportMap = {
  version: 1,
  sports: {
    RIDE: [
      'Ride',
      'GravelRide',
      'MountainBikeRide',
      'VirtualRide',
      'EBikeRide',
      'EMountainBikeRide',
      'Handcycle',
      'Velomobile',
    ],
    RUN: ['Run', 'TrailRun', 'VirtualRun'],
    SWIM: ['Swim'],
  },
}

/** Returns the sport of a sport type. Undefined: activities of this type count towards no milestone. */
export type SportOf = (sportType: string) => Sport | undefined

export const sportsOf = ({ sports }: SportMap): SportOf => {
  const byType = new Map(
    (Object.entries(sports) as [Sport, readonly string[]][]).flatMap(([sport, types]) =>
      types.map((type) => [type, sport] as const),
    ),
  )
  return (sportType) => byType.get(sportType)
}
