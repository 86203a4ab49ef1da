// The programs that compare anekit with other libraries, apart from what the library needs.
module github.com/anekit/anekit/contrib/peers

go 1.26.0

replace github.com/anekit/anekit => ../..

require (
	github.com/anekit/anekit v0.0.0-00010101000000-000000000000
	github.com/klauspost/cpuid/v2 v2.2.10
	github.com/nlpodyssey/safetensors v0.0.0-20250209183917-bfb01cc25f7c
	github.com/tetratelabs/wazero v1.12.0
	github.com/x448/float16 v0.8.4
	github.com/yalue/onnxruntime_go v1.27.0
	golang.org/x/sys v0.49.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)
