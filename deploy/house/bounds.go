package main

// Bounds of the figures: where the project is. They only move towards the aims.
const (
	oneWordBound    = 14.2
	medianBound     = 10.0
	parallelBound   = 2.2
	callFirstBound  = 13.0
	blankBound      = 11.7
	longBound       = 6.7
	statementsBound = 63_500.0
)
