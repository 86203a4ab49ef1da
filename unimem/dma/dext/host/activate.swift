// Asks the system to install, or with --remove to remove, a driver extension of this application:
//
//     AnekitDMA.app/Contents/MacOS/activate [--remove] org.anekit.dma.memory

import Foundation
import SystemExtensions

final class Delegate: NSObject, OSSystemExtensionRequestDelegate {
    func request(_ request: OSSystemExtensionRequest, actionForReplacingExtension old: OSSystemExtensionProperties,
                 withExtension new: OSSystemExtensionProperties) -> OSSystemExtensionRequest.ReplacementAction {
        .replace
    }

    func requestNeedsUserApproval(_ request: OSSystemExtensionRequest) {
        print("allow the extension in System Settings, Privacy & Security")
    }

    func request(_ request: OSSystemExtensionRequest, didFinishWithResult result: OSSystemExtensionRequest.Result) {
        print(result == .completed ? "done" : "done after the next start of the Mac")
        exit(0)
    }

    func request(_ request: OSSystemExtensionRequest, didFailWithError error: Error) {
        print("refused: \(error.localizedDescription)")
        exit(1)
    }
}

let names = CommandLine.arguments.dropFirst().filter { $0 != "--remove" }
guard names.count == 1, let name = names.first else {
    print("usage: activate [--remove] IDENTIFIER")
    exit(2)
}
let delegate = Delegate()
let request = CommandLine.arguments.contains("--remove")
    ? OSSystemExtensionRequest.deactivationRequest(forExtensionWithIdentifier: name, queue: .main)
    : OSSystemExtensionRequest.activationRequest(forExtensionWithIdentifier: name, queue: .main)
request.delegate = delegate
OSSystemExtensionManager.shared.submitRequest(request)
dispatchMain()
