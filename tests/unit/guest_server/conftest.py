"""Makes the guest server's package importable: it is in vm_images, not on the service's path."""

import sys
from pathlib import Path

VM_IMAGES = str(Path(__file__).resolve().parents[3] / "vm_images")
if VM_IMAGES not in sys.path:
    sys.path.insert(0, VM_IMAGES)
