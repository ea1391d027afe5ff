/** A request of simulated traffic. */
export interface SimulatedRequest {
  readonly user: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}
