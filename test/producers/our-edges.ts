import { OUR_RECORDS } from '../../domains/list.ts'
import type { Edge } from '../../domains/record.ts'
import { edgeOf } from '../../testing/edge/edge.ts'

/** The edge of every domain of the program, with no outside service configured. */
export const ourEdges = (): readonly Edge[] => OUR_RECORDS.map(edgeOf).filter((edge) => edge !== undefined)
