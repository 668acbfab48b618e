"""Money, percentages and measures."""

from __future__ import annotations

import re

from speech.text.numbers import listed
from speech.tts.normalise.numbers import cardinal, decimal, digits, integer, one
from speech.tts.normalise.rules import DIGITS, LETTERS, NOT_IN_WORD, NUMBER, Place, rule
from speech.tts.normalise.words import Saying, say

# sign or code -> one, many, one and many of the small coin
CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"), "US$": ("u s dollar", "u s dollars", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"), "€": ("euro", "euros", "cent", "cents"), "¥": ("yen", "yen", "", ""),
    "₹": ("rupee", "rupees", "paisa", "paise"), "C$": ("canadian dollar", "canadian dollars", "cent", "cents"),
    "A$": ("australian dollar", "australian dollars", "cent", "cents"),
}  # fmt: skip
CODES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "CAD": "C$", "AUD": "A$"}
SCALES = {"k": "thousand", "m": "million", "mm": "million", "b": "billion", "bn": "billion", "t": "trillion"}
SCALE_WORDS = r"(?: ?(hundred|thousand|million|billion|trillion)\b| ?(k|K|m|M|mm|MM|b|B|bn|Bn|t|T)(?![A-Za-z0-9]))?"

# unit -> one, many
UNITS = {
    "km/h": ("kilometer per hour", "kilometers per hour"), "kmh": ("kilometer per hour", "kilometers per hour"),
    "kph": ("kilometer per hour", "kilometers per hour"), "mph": ("mile per hour", "miles per hour"),
    "m/s": ("meter per second", "meters per second"), "km": ("kilometer", "kilometers"),
    "cm": ("centimeter", "centimeters"),
    "mm": ("millimeter", "millimeters"), "nm": ("nanometer", "nanometers"), "kg": ("kilogram", "kilograms"),
    "mg": ("milligram", "milligrams"), "g": ("gram", "grams"), "lb": ("pound", "pounds"), "lbs": ("pound", "pounds"),
    "oz": ("ounce", "ounces"), "ft": ("foot", "feet"), "yd": ("yard", "yards"), "mi": ("mile", "miles"),
    "ml": ("milliliter", "milliliters"), "mL": ("milliliter", "milliliters"), "L": ("liter", "liters"),
    "gal": ("gallon", "gallons"), "tbsp": ("tablespoon", "tablespoons"), "tsp": ("teaspoon", "teaspoons"),
    "MB/s": ("megabyte per second", "megabytes per second"),
    "GB/s": ("gigabyte per second", "gigabytes per second"),
    "GB": ("gigabyte", "gigabytes"), "MB": ("megabyte", "megabytes"), "KB": ("kilobyte", "kilobytes"),
    "kB": ("kilobyte", "kilobytes"), "TB": ("terabyte", "terabytes"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"), "kbps": ("kilobit per second", "kilobits per second"),
    "Hz": ("hertz", "hertz"), "kHz": ("kilohertz", "kilohertz"), "MHz": ("megahertz", "megahertz"),
    "GHz": ("gigahertz", "gigahertz"), "W": ("watt", "watts"), "kW": ("kilowatt", "kilowatts"),
    "MW": ("megawatt", "megawatts"),
    "kWh": ("kilowatt hour", "kilowatt hours"), "mAh": ("milliamp hour", "milliamp hours"), "V": ("volt", "volts"),
    "dB": ("decibel", "decibels"), "ms": ("millisecond", "milliseconds"), "sec": ("second", "seconds"),
    "secs": ("second", "seconds"), "s": ("second", "seconds"), "min": ("minute", "minutes"),
    "mins": ("minute", "minutes"),
    "hr": ("hour", "hours"), "hrs": ("hour", "hours"), "h": ("hour", "hours"), "yrs": ("year", "years"),
    "m": ("meter", "meters"),
    "°C": ("degree celsius", "degrees celsius"), "°F": ("degree fahrenheit", "degrees fahrenheit"),
    "°": ("degree", "degrees"),
    "kcal": ("kilocalorie", "kilocalories"), "cal": ("calorie", "calories"), "sqft": ("square foot", "square feet"),
    "sq ft": ("square foot", "square feet"), "sq. ft.": ("square foot", "square feet"), "px": ("pixel", "pixels"),
    "m^2": ("square meter", "square meters"), "km^2": ("square kilometer", "square kilometers"),
    "m^3": ("cubic meter", "cubic meters"), "¢": ("cent", "cents"), "µm": ("micrometer", "micrometers"),
    "µg": ("microgram", "micrograms"), "pt": ("point", "points"), "psi": ("p s i", "p s i"), "rpm": ("r p m", "r p m"),
}  # fmt: skip
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
PER = {"hr": "hour", "h": "hour", "mo": "month", "yr": "year", "wk": "week", "min": "minute", "sec": "second"} | {
    unit: unit for unit in listed("hour month year week day night minute second person user mile kg lb gallon unit")
}
TIGHT = {"m", "s", "g", "h", "V", "W", "L", "pt"}  # after a blank these are letters or words


def _money(m: re.Match[str], place: Place) -> Saying | None:
    return amount(m[2], CURRENCIES[m[1]], m[3] or SCALES.get((m[4] or "").lower(), ""), m[0].startswith("-"))


def _coded(m: re.Match[str], place: Place) -> Saying | None:
    number, code = (m[1], m[2]) if m[1] else (m[4], m[3])
    return amount(number, CURRENCIES[CODES[code]], "")


def amount(number: str, names: tuple[str, str, str, str], scale: str, minus: bool = False) -> Saying:
    """ "three dollars and fifty cents", "one point two million dollars"."""
    whole, _, part = number.replace(",", "").partition(".")
    sign = "minus " if minus else ""
    if scale:
        return say(f"{sign}{decimal(number)} {scale} {names[1]}")
    if part and (len(part) != 2 or not names[2]):
        return say(f"{sign}{decimal(number)} {names[1]}")
    coins = f"{cardinal(int(part))} {names[2] if int(part) == 1 else names[3]}" if part and int(part) else ""
    large = f"{_whole(whole)} {names[0] if whole == '1' else names[1]}"
    if not coins:
        return say(sign + large)
    return say(sign + (f"{large} and {coins}" if int(whole) else coins))


def _whole(text: str) -> str:
    return cardinal(int(text)) if len(text) <= 15 else digits(text)


def _percent(m: re.Match[str], place: Place) -> Saying | None:
    to = f" to {signed(m[2])}" if m[2] else ""
    return say(f"{signed(m[1])}{to} percent")


def signed(text: str) -> str:
    """A number as written, with its sign: "minus", "plus"."""
    sign = {"-": "minus ", "+": "plus "}.get(text[0], "")
    return sign + decimal(text.lstrip("+-"))


def _measure(m: re.Match[str], place: Place) -> Saying | None:
    number, high, blank, unit = m[1], m[2], m[3], m[4]
    if blank and unit in TIGHT and unit != "L":
        return None
    if unit == "m" and place.text[place.end : place.end + 3].lower().startswith((".m", "m")):
        return None
    names = UNITS[unit]
    if high:
        return say(f"{signed(number)} to {decimal(high)} {names[1]}")
    return say(f"{signed(number)} {names[0] if one(number) else names[1]}")


def _per(m: re.Match[str], place: Place) -> Saying | None:
    return say(f"per {PER[m[1]]}") if place.char_before().isdigit() or place.char_before() in "kKMB%" else None


def _height(m: re.Match[str], place: Place) -> Saying | None:
    feet = f"{integer(m[1])} {'foot' if m[1] == '1' else 'feet'}"
    inches = f" {integer(m[2])} {'inch' if m[2] == '1' else 'inches'}" if m[2] else ""
    return say(feet + inches)


def _by(m: re.Match[str], place: Place) -> Saying | None:
    return say(" by ".join(decimal(part) for part in re.split(" ?[xX] ?", m[0])))


_SIGNED = rf"[-+]?(?:{NUMBER})"
RULES = [
    rule("$£€¥₹UCA-", rf"-?(US\$|C\$|A\$|[$£€¥₹]) ?({NUMBER}){SCALE_WORDS}", _money),
    rule(DIGITS, rf"({NUMBER}) ?(USD|EUR|GBP|JPY|INR|CAD|AUD){NOT_IN_WORD}", _coded),
    rule(LETTERS, rf"()()(USD|EUR|GBP|JPY|INR|CAD|AUD) ?({NUMBER})", _coded),
    rule(DIGITS + "-+.", rf"([-+]?(?:{NUMBER}|\.\d+)) ?(?:[-–] ?({NUMBER}) ?)?%", _percent),
    rule(DIGITS, r"(\d{1,2})' ?(\d{1,2})\"", _height),
    rule(DIGITS, r"\d+(?:\.\d+)?(?: ?[xX] ?\d+(?:\.\d+)?)+(?![A-Za-z0-9])", _by),
    rule(
        DIGITS + "-+", rf"({_SIGNED})(?:[-–]({NUMBER}))?( ?)({_UNIT})(?![A-Za-z0-9/^])(?:\.(?= ?[a-z,;:]))?", _measure
    ),
    rule("/", rf"/({'|'.join(PER)})(?![A-Za-z0-9])", _per),
]
