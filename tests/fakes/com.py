"""COM objects of Python functions, so that code that calls them by table positions runs on any system.

The names stand in the order in which UIAutomationClient.h declares them; the tested code has the numbers.
"""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

UNKNOWN = "QueryInterface AddRef Release"
AUTOMATION = f"""{UNKNOWN} CompareElements CompareRuntimeIds GetRootElement ElementFromHandle ElementFromPoint
GetFocusedElement GetRootElementBuildCache ElementFromHandleBuildCache ElementFromPointBuildCache
GetFocusedElementBuildCache CreateTreeWalker get_ControlViewWalker get_ContentViewWalker get_RawViewWalker
get_RawViewCondition get_ControlViewCondition get_ContentViewCondition CreateCacheRequest CreateTrueCondition
CreateFalseCondition CreatePropertyCondition CreatePropertyConditionEx CreateAndCondition CreateAndConditionFromArray
CreateAndConditionFromNativeArray CreateOrCondition CreateOrConditionFromArray CreateOrConditionFromNativeArray
CreateNotCondition AddAutomationEventHandler RemoveAutomationEventHandler AddPropertyChangedEventHandlerNativeArray
AddPropertyChangedEventHandler RemovePropertyChangedEventHandler AddStructureChangedEventHandler
RemoveStructureChangedEventHandler AddFocusChangedEventHandler RemoveFocusChangedEventHandler RemoveAllEventHandlers
IntNativeArrayToSafeArray IntSafeArrayToNativeArray RectToVariant VariantToRect SafeArrayToRectNativeArray
CreateProxyFactoryEntry get_ProxyFactoryMapping GetPropertyProgrammaticName GetPatternProgrammaticName
PollForPotentialSupportedPatterns PollForPotentialSupportedProperties CheckNotSupported get_ReservedNotSupportedValue
get_ReservedMixedAttributeValue ElementFromIAccessible ElementFromIAccessibleBuildCache get_AutoSetFocus
put_AutoSetFocus get_ConnectionTimeout put_ConnectionTimeout get_TransactionTimeout put_TransactionTimeout"""
ELEMENT = f"""{UNKNOWN} SetFocus GetRuntimeId FindFirst FindAll FindFirstBuildCache FindAllBuildCache
BuildUpdatedCache GetCurrentPropertyValue GetCurrentPropertyValueEx GetCachedPropertyValue GetCachedPropertyValueEx
GetCurrentPatternAs GetCachedPatternAs GetCurrentPattern GetCachedPattern GetCachedParent GetCachedChildren
get_CurrentProcessId get_CurrentControlType get_CurrentLocalizedControlType get_CurrentName get_CurrentAcceleratorKey
get_CurrentAccessKey get_CurrentHasKeyboardFocus get_CurrentIsKeyboardFocusable get_CurrentIsEnabled
get_CurrentAutomationId get_CurrentClassName get_CurrentHelpText get_CurrentCulture get_CurrentIsControlElement
get_CurrentIsContentElement get_CurrentIsPassword get_CurrentNativeWindowHandle get_CurrentItemType
get_CurrentIsOffscreen get_CurrentOrientation get_CurrentFrameworkId get_CurrentIsRequiredForForm
get_CurrentItemStatus get_CurrentBoundingRectangle get_CurrentLabeledBy get_CurrentAriaRole get_CurrentAriaProperties
get_CurrentIsDataValidForForm get_CurrentControllerFor get_CurrentDescribedBy get_CurrentFlowsTo
get_CurrentProviderDescription get_CachedProcessId get_CachedControlType get_CachedLocalizedControlType get_CachedName
get_CachedAcceleratorKey get_CachedAccessKey get_CachedHasKeyboardFocus get_CachedIsKeyboardFocusable
get_CachedIsEnabled get_CachedAutomationId get_CachedClassName get_CachedHelpText get_CachedCulture
get_CachedIsControlElement get_CachedIsContentElement get_CachedIsPassword get_CachedNativeWindowHandle
get_CachedItemType get_CachedIsOffscreen get_CachedOrientation get_CachedFrameworkId get_CachedIsRequiredForForm
get_CachedItemStatus get_CachedBoundingRectangle"""
REQUEST = f"""{UNKNOWN} AddProperty AddPattern Clone get_TreeScope put_TreeScope get_TreeFilter put_TreeFilter
get_AutomationElementMode put_AutomationElementMode"""
ARRAY = f"{UNKNOWN} get_Length GetElement"
TEXT_PATTERN = f"""{UNKNOWN} RangeFromPoint RangeFromChild GetSelection GetVisibleRanges get_DocumentRange
get_SupportedTextSelection"""
RANGE = f"""{UNKNOWN} Clone Compare CompareEndpoints ExpandToEnclosingUnit FindAttribute FindText GetAttributeValue
GetBoundingRectangles GetEnclosingElement GetText Move MoveEndpointByUnit MoveEndpointByRange Select AddToSelection
RemoveFromSelection ScrollIntoView GetChildren"""

ADDRESS, NUMBER = ctypes.c_void_p, ctypes.c_int
OK, FAILED, INVALID = 0, -2147220991, -2147024809  # UIA_E_ELEMENTNOTAVAILABLE, E_INVALIDARG
Method = tuple[Sequence[Any], Callable[..., int]]
"""A function's arguments beside the object, and the function."""

_BSTR, _BOOL, _I4, _R8 = 8, 11, 3, 5


class FakeCom:
    """One object.

    Attributes:
        address: the pointer that a caller holds.
        held: how many references there are.
    """

    kept: list["FakeCom"] = []  # noqa: RUF012 - all of them, so that no address dies before a test ends.

    def __init__(self, names: str, methods: Mapping[str, Method]) -> None:
        order = names.split()
        self._functions = [self._function(name, methods) for name in order]
        self._table = (ADDRESS * len(order))(*(ctypes.cast(function, ADDRESS).value for function in self._functions))
        self._object = ADDRESS(ctypes.addressof(self._table))
        self.address = ctypes.addressof(self._object)
        self.held = 0
        self.kept.append(self)

    def _function(self, name: str, methods: Mapping[str, Method]) -> Any:
        if name == "Release":
            return ctypes.CFUNCTYPE(ctypes.c_ulong, ADDRESS)(self._release)
        takes, call = methods.get(name, ((), lambda: self._never(name)))
        return ctypes.CFUNCTYPE(ctypes.c_long, ADDRESS, *takes)(lambda _this, *arguments: call(*arguments))

    def _release(self, _this: int) -> int:
        self.held -= 1
        return self.held

    @staticmethod
    def _never(name: str) -> int:
        raise AssertionError(f"{name} was called")

    def give(self, target: int) -> int:
        """Writes the pointer to the caller's address and counts the reference."""
        self.held += 1
        ctypes.cast(target, ctypes.POINTER(ADDRESS))[0] = self.address
        return OK


class FakeStrings:
    """Texts as COM hands them out; see `oleaut32`."""

    def __init__(self) -> None:
        self.lent: dict[int, Any] = {}

    def give(self, text: str, target: int) -> int:
        """Writes a new text's pointer to the caller's address."""
        buffer = ctypes.create_unicode_buffer(text)
        self.lent[ctypes.addressof(buffer)] = buffer
        ctypes.cast(target, ctypes.POINTER(ADDRESS))[0] = ctypes.addressof(buffer)
        return OK

    def variant(self, value: object, target: int) -> int:
        """Writes a VARIANT: 2 bytes of its kind, 6 of nothing, the data."""
        kind = ctypes.cast(target, ctypes.POINTER(ctypes.c_ushort))
        place = target + 8
        kind[0] = 0
        if isinstance(value, str):
            kind[0] = _BSTR
            self.give(value, place)
        elif isinstance(value, bool):
            kind[0] = _BOOL
            ctypes.cast(place, ctypes.POINTER(ctypes.c_short))[0] = -1 if value else 0
        elif isinstance(value, int):
            kind[0] = _I4
            ctypes.cast(place, ctypes.POINTER(NUMBER))[0] = value
        elif isinstance(value, float):
            kind[0] = _R8
            ctypes.cast(place, ctypes.POINTER(ctypes.c_double))[0] = value
        return OK

    def SysStringLen(self, text: Any) -> int:  # noqa: N802 - Windows' name.
        """Characters."""
        return len(self.lent[text.value].value)

    def SysFreeString(self, text: Any) -> None:  # noqa: N802 - Windows' name.
        """It was lent once."""
        del self.lent[text.value]

    def VariantClear(self, variant: Any) -> int:  # noqa: N802 - Windows' name.
        """Frees its text."""
        place = ctypes.cast(variant, ADDRESS).value or 0
        if ctypes.cast(place, ctypes.POINTER(ctypes.c_ushort))[0] == _BSTR:
            self.SysFreeString(ADDRESS(ctypes.cast(place + 8, ctypes.POINTER(ADDRESS))[0]))
        return OK
