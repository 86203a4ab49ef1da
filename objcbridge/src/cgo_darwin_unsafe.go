//go:build darwin && cgo

// Package src holds the Objective-C bridge to AppleNeuralEngine.framework. On
// macOS with cgo this file compiles it into the program. Elsewhere the
// folder has no Go file, and objcbridge/build.sh builds a shared library from it.
//
// bridge.h is the interface; package objcbridge calls it.
package src

/*
#cgo CFLAGS: -std=gnu11 -fblocks -fno-objc-arc -mmacosx-version-min=13.0
#cgo LDFLAGS: -framework Foundation -framework CoreFoundation -framework IOSurface
#include "bridge.h"
*/
import "C"

// Addresses returns the address of each function of bridge.h by its name.
func Addresses() map[string]uintptr {
	return map[string]uintptr{
		"aneb_close":              uintptr(C.aneb_close),
		"aneb_device_info":        uintptr(C.aneb_device_info),
		"aneb_evaluate":           uintptr(C.aneb_evaluate),
		"aneb_open":               uintptr(C.aneb_open),
		"aneb_program_attributes": uintptr(C.aneb_program_attributes),
		"aneb_program_compile":    uintptr(C.aneb_program_compile),
		"aneb_program_create":     uintptr(C.aneb_program_create),
		"aneb_program_inspect":    uintptr(C.aneb_program_inspect),
		"aneb_program_load":       uintptr(C.aneb_program_load),
		"aneb_folders_now":        uintptr(C.aneb_folders_now),
		"aneb_program_patience":   uintptr(C.aneb_program_patience),
		"aneb_program_purge":      uintptr(C.aneb_program_purge),
		"aneb_program_release":    uintptr(C.aneb_program_release),
		"aneb_program_reside":     uintptr(C.aneb_program_reside),
		"aneb_program_unload":     uintptr(C.aneb_program_unload),
		"aneb_registry":           uintptr(C.aneb_registry),
		"aneb_request_create":     uintptr(C.aneb_request_create),
		"aneb_request_release":    uintptr(C.aneb_request_release),
		"aneb_self_check":         uintptr(C.aneb_self_check),
		"aneb_surface_lock":       uintptr(C.aneb_surface_lock),
		"aneb_surface_release":    uintptr(C.aneb_surface_release),
		"aneb_surface_unlock":     uintptr(C.aneb_surface_unlock),
		"aneb_surface_wrap":       uintptr(C.aneb_surface_wrap),
		"aneb_usage_now":          uintptr(C.aneb_usage_now),
		"aneb_version":            uintptr(C.aneb_version),
	}
}
