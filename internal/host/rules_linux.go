//go:build !macrules

package host

const linux, mac = true, false
