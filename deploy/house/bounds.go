package main

// Bounds of the figures: where the project is. They only move towards the aims.
const (
	oneWordBound    = 13.8
	medianBound     = 10.0
	parallelBound   = 2.2
	callFirstBound  = 13.0
	blankBound      = 11.8
	longBound       = 6.7
	statementsBound = 59_000.0
)
