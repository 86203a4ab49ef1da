// Package shared has what a broker for several processes needs and a private one does not: a socket that only this
// user can reach, made here or taken from a service manager, and the file of a policy. Other programs compile and link
// neither package net nor this decoder of JSON.
package shared

// engine is what errors give as the engine.
const engine = "broker"
