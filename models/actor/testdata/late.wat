;; A guest whose first call only has the model take the prompt: a snapshot then lies between prompt and logits.
(module
  (import "anekit" "prompt_read" (func $prompt_read (param i32 i32) (result i32)))
  (import "anekit" "prefill" (func $prefill (param i32 i32) (result i32)))
  (import "anekit" "step" (func $step (param i32) (result i32)))
  (import "anekit" "choose" (func $choose (result i32)))
  (memory (export "memory") 1 1)
  (global $begun (mut i32) (i32.const 0))
  (func (export "next") (result i32) (local $token i32)
    (if (i32.eqz (global.get $begun)) (then
      (global.set $begun (i32.const 1))
      (return (call $prefill (i32.const 0) (call $prompt_read (i32.const 0) (i32.const 1024))))))
    (local.set $token (call $choose))
    (drop (call $step (local.get $token)))
    (local.get $token)))
