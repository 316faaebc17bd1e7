# SPDX-License-Identifier: BSD-2-Clause
"""MQTT-TZ on a board: mosquitto with our plugin, clients with keys, and what each of them sees."""
