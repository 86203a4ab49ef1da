// Package broker lets a program start private brokers, by which a crash of the engine does not end the program. Package
// engine opens them; what they serve with is linked by this package alone.
package broker
