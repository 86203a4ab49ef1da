package objcbridge

// abiVersion is the ANEB_VERSION of src/bridge.h that this package uses.
const abiVersion = 5

// library is a loaded bridge: the addresses of its functions.
type library struct {
	path string // empty: part of the binary

	version, open, close, selfCheck, deviceInfo, registry, usageNow   uintptr
	surfaceWrap, surfaceUnlock, surfaceLock, surfaceRelease           uintptr
	programCreate, programCompile, programLoad, programUnload         uintptr
	programPurge, programRelease, programInspect, programAttributes   uintptr
	programPatience, programReside, foldersNow                        uintptr
	requestCreate, requestRelease, evaluate, evaluateAsync, giveUpRun uintptr
}

// functions maps every function of src/bridge.h to its field.
func (l *library) functions() map[string]*uintptr {
	return map[string]*uintptr{
		"aneb_version":            &l.version,
		"aneb_open":               &l.open,
		"aneb_close":              &l.close,
		"aneb_self_check":         &l.selfCheck,
		"aneb_device_info":        &l.deviceInfo,
		"aneb_registry":           &l.registry,
		"aneb_folders_now":        &l.foldersNow,
		"aneb_usage_now":          &l.usageNow,
		"aneb_surface_wrap":       &l.surfaceWrap,
		"aneb_surface_unlock":     &l.surfaceUnlock,
		"aneb_surface_lock":       &l.surfaceLock,
		"aneb_surface_release":    &l.surfaceRelease,
		"aneb_program_create":     &l.programCreate,
		"aneb_program_patience":   &l.programPatience,
		"aneb_program_reside":     &l.programReside,
		"aneb_program_compile":    &l.programCompile,
		"aneb_program_load":       &l.programLoad,
		"aneb_program_unload":     &l.programUnload,
		"aneb_program_purge":      &l.programPurge,
		"aneb_program_release":    &l.programRelease,
		"aneb_program_inspect":    &l.programInspect,
		"aneb_program_attributes": &l.programAttributes,
		"aneb_request_create":     &l.requestCreate,
		"aneb_request_release":    &l.requestRelease,
		"aneb_evaluate":           &l.evaluate,
		"aneb_evaluate_async":     &l.evaluateAsync,
		"aneb_forget":             &l.giveUpRun,
	}
}

// fill looks up the functions and checks the version. lookup returns 0 for a missing symbol. fill
// checks the version first, because another version may have other functions.
func (l *library) fill(lookup func(symbol string) uintptr) error {
	var missing []string
	for symbol, address := range l.functions() {
		if *address = lookup(symbol); *address == 0 {
			missing = append(missing, symbol)
		}
	}
	if l.version != 0 {
		if v := uint32(call(l.version)); v != abiVersion {
			return &VersionError{Library: l.path, Found: v, Want: abiVersion}
		}
	}
	if len(missing) > 0 {
		return &SymbolError{Library: l.path, Missing: sorted(missing)}
	}
	return nil
}
