import fc from 'fast-check'
import { PROPERTY_SEED } from '../testing/property-runs.ts'

fc.configureGlobal({ seed: PROPERTY_SEED })
