#!/usr/bin/env node
import '../dist/timestream-local/main.js'
