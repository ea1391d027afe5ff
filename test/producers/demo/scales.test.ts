import { describe, expect, test } from 'vitest'
import { barTraffic, type BarStep } from '../../../producers/scales/demo-traffic.ts'

const NOW = Date.parse('2026-11-16T20:00:00.000Z')
const devices = ['s1', 's2', 's3', 's4']
const life = (seed: number, minutes = 600): readonly BarStep[] => [...barTraffic({ seed, devices, now: NOW, minutes })]
const readings = (steps: readonly BarStep[]) =>
  steps.flatMap((step) =>
    step.kind === 'message'
      ? step.messageAt(NOW).events.map((event) => ({ ...event, device: step.device, at: NOW - event.age_ms }))
      : [],
  )

describe('the traffic of a bar', () => {
  test('is the same for the same seed, and another for another', () => {
    const traffic = (seed: number) => JSON.stringify(readings(life(seed, 60)))
    expect(traffic(1)).toBe(traffic(1))
    expect(traffic(1)).not.toBe(traffic(2))
  })

  test('every scale sends each of its readings once, in the order of its sequence, none in the future', () => {
    for (const device of devices) {
      const own = readings(life(3)).filter((reading) => reading.device === device)
      expect(own.map(({ seq }) => seq)).toEqual(own.map((_, index) => index + 1))
      expect(own.every(({ age_ms }) => age_ms >= 0)).toBe(true)
    }
  })

  test('swaps a keg within two hours, and has another beer on every tap', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const on = new Map<string, string>()
      const kegs = life(seed, 120).flatMap((step) => (step.kind === 'keg' ? [step] : []))
      for (const { tap, body } of kegs) {
        on.set(tap, body.beer_id)
        expect(new Set(on.values()).size, `seed ${seed}`).toBe(on.size)
      }
      expect(
        kegs.map(({ tap }) => tap),
        `seed ${seed}`,
      ).toEqual(['01', '02', '03', '04', '01'])
    }
  })

  test('contains an offline hour whose readings follow in messages of at most sixteen events, a battery that runs empty, and empty kegs', () => {
    const steps = life(5, 3_000)
    const messages = steps.flatMap((step) => (step.kind === 'message' ? [step.messageAt(NOW).events.length] : []))
    expect(Math.max(...messages)).toBe(16)
    const batteries = readings(steps)
      .filter(({ device }) => device === 's3')
      .map(({ data }) => Number(data['battery_pct']))
    expect(batteries.at(-1)).toBe(0)
    expect(steps.filter(({ kind }) => kind === 'keg').length).toBeGreaterThan(devices.length)
  })
})
